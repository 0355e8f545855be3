"""The routes of the HTTP API, one module for each kind of resource, and their shared parameters.

The query parameter of the criterion is called `by`, as the option of the command line; in request
and response bodies it is the field `criterion`, as in the answer log.
"""

from typing import Annotated

from fastapi import Depends, Path, Query

from likewise.server.security import Person, person_of

By = Annotated[
    str, Query(max_length=200, description="Name of the criterion; empty means the default one.")
]
Who = Annotated[str, Query(max_length=200, description="Name of the person, for the answer log.")]
ImageId = Annotated[int, Path(alias="id", ge=0, le=2**31, description="Index of the image.")]
AnswerId = Annotated[int, Path(alias="id", ge=0, le=2**53, description="Id of the log entry.")]
GroupId = Annotated[str, Path(alias="id", max_length=200, description="Id of the group.")]
#: The person whose link was used: their name replaces any `who` of the request.
Signed = Annotated[Person | None, Depends(person_of)]

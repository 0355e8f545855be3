"""`likewise report`: one HTML file about the groups of a criterion."""

from pathlib import Path
from typing import Annotated

import typer

from likewise.cli.console import print_json, print_line
from likewise.cli.options import AsJson, By, EncoderName, Offline, SessionPath


def report(
    session: SessionPath,
    by: By = "",
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="HTML file; default report-NAME.html.")
    ] = None,
    no_curve: Annotated[
        bool, typer.Option("--no-curve", help="Omit the learning curve, which needs training.")
    ] = False,
    encoder: EncoderName = None,
    offline: Offline = False,
    as_json: AsJson = False,
) -> None:
    """Write a report about the groups of a session as one self-contained HTML file.

    It contains the learning curve, the estimated accuracy, group sizes, confused groups, and
    example images. The curve is computed by replaying the answers; give the --encoder that the
    session was started with.

    \b
    Example:
        likewise report photos.likewise --by season -o season.html
    """
    from likewise.cli.console import ProgressBars, check_new_path, replace_file
    from likewise.embedding.registry import DEFAULT_ENCODER, make_encoder
    from likewise.session.export.folders import safe_name
    from likewise.session.session import Session
    from likewise.workspace.report import make_report

    with Session.open(session, write=False) as opened, ProgressBars() as bars:
        name = opened.criterion(by).name
        path = out or Path(safe_name(f"report-{name}.html"))
        check_new_path(path)
        content = make_report(
            opened,
            name,
            None if no_curve else make_encoder(encoder or DEFAULT_ENCODER),
            embedding=bars.step("embedding"),
            training=bars.step("replaying the answers"),
        )
    replace_file(path, content.encode("utf-8", "surrogateescape"))
    if as_json:
        print_json({"out": str(path), "criterion": name, "bytes": len(content)})
    else:
        print_line(f"Report written to {path}")

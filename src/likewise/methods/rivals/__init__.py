"""The rivals: methods of other people, each a short composition on the parts all methods share."""

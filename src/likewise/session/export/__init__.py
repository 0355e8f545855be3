"""Export of groups: tables, folders of images, HTML pages and other programs' formats."""

"""mkdocs hook: links to files of the repository that are no page stay what they are called."""
import re

OUTSIDE = re.compile(r"\[([^\]]+)\]\((?:\.\./)+(?!tutorials/)[^)]*\)")


def on_page_markdown(markdown, page, config, files):
    depth = page.file.src_path.count("/")
    return OUTSIDE.sub(lambda link: link.group(0) if depth and link.group(0).count("../") <= depth else link.group(1), markdown)

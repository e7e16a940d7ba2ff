"""Every link of the built site leads to a page and a heading that are there. check_links.py FOLDER"""
import html.parser
import os
import sys
import urllib.parse


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if attributes.get("id"):
            self.ids.add(attributes["id"])
        if tag == "a" and attributes.get("href"):
            self.links.append(attributes["href"])


root = sys.argv[1]
pages = {}
for folder, _, names in os.walk(root):
    for name in names:
        if name.endswith(".html"):
            path = os.path.join(folder, name)
            pages[os.path.normpath(path)] = Page(open(path, encoding="utf-8").read())
broken, n_links = [], 0
for path, page in sorted(pages.items()):
    for link in page.links:
        parts = urllib.parse.urlsplit(link)
        if parts.scheme or parts.netloc or path.endswith("404.html"):
            continue
        n_links += 1
        target = os.path.normpath(os.path.join(os.path.dirname(path), urllib.parse.unquote(parts.path))) if parts.path else path
        if os.path.isdir(target):
            target = os.path.join(target, "index.html")
        fragment = urllib.parse.unquote(parts.fragment)
        if not os.path.exists(target) or (fragment and target in pages and fragment not in pages[target].ids and fragment != "__skip"):
            broken.append(f"{os.path.relpath(path, root)}: {link}")
print("\n".join(broken))
print(f"docs: {len(pages)} pages, {n_links} links, {len(broken)} broken")
sys.exit(1 if broken else 0)

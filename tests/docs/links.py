"""Checks a built book: each relative link, anchor and picture of its pages leads to something in the book.

    links.py FOLDER
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ADDRESSES = ("href", "src", "srcset", "poster", "data")


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif name == "srcset":
                self.links += [part.split()[0] for part in value.split(",") if part.strip()]
            elif name in ADDRESSES:
                self.links.append(value)


def broken(book):
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in sorted(book.rglob("*.html"))}
    if len(pages) < 20:
        sys.exit(f"{book}: only {len(pages)} pages")
    for path, page in pages.items():
        name = path.relative_to(book)
        # The first is shown at any address, with links from the root. The second is all pages in one, and mdBook leaves the addresses
        # of dark pictures as they are in their own pages.
        if name.name in ("404.html", "print.html"):
            continue
        for link in page.links:
            address = urlsplit(link)
            if address.scheme or address.netloc:
                continue
            target = (path.parent / unquote(address.path)).resolve() if address.path else path
            if not target.is_relative_to(book):
                yield f"{name}: {link} leads out of the book"
            elif not target.exists():
                yield f"{name}: {link} does not exist"
            elif address.fragment and target in pages and unquote(address.fragment) not in pages[target].anchors:
                yield f"{name}: {link} has no such anchor"


found = list(broken(Path(sys.argv[1]).resolve()))
for line in found:
    print(line, file=sys.stderr)
sys.exit(1 if found else 0)

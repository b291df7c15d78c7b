"""Agents' Markdown becomes HTML that shows what was meant and can do nothing."""

from __future__ import annotations

import time
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sayso.web.markdown import _MOST_ADDRESSES, MOST_CHARACTERS, heading_of, plain_line, shown, with_code

ALLOWED = {
    "span",
    *("p", "br", "hr", "strong", "em", "s", "code", "pre", "blockquote", "a"),
    *("ul", "ol", "li", "table", "thead", "tbody", "tr", "th", "td"),
}


class Seen(HTMLParser):
    """The tags and attributes that a browser would see."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.addresses: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.addresses += [value or "" for name, value in attrs if name == "href"]


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("**bold** and *soft*", "<p><strong>bold</strong> and <em>soft</em></p>"),
        ("`code`", "<p><code>code</code></p>"),
        ("one\ntwo", "<p>one<br>\ntwo</p>"),
        ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>"),
        ("## Heading", "<p><strong>Heading</strong></p>"),
        ("~~gone~~", "<p><s>gone</s></p>"),
        (
            "a|b|c\n---|:-:|--:\n1|2|3",
            '<div tabindex="0"><table>\n<thead>\n<tr>\n<th>a</th>\n<th class="centre">b</th>\n<th class="right">c</th>',
        ),
        ("a < b && c > d", "<p>a &lt; b &amp;&amp; c &gt; d</p>"),
        ("<b>not bold</b>", "<p>&lt;b&gt;not bold&lt;/b&gt;</p>"),
        ("![alt](https://evil.example/p.png)", "<p>!<a href="),
    ],
)
def test_markdown_is_shown_as_it_is_meant(text: str, html: str) -> None:
    assert str(shown(text).html).startswith(html)


@pytest.mark.parametrize(
    ("text", "links"),
    [
        ("see https://example.org/a?x=1&y=2.", ["https://example.org/a?x=1&y=2"]),
        ("(http://example.org)", ["http://example.org"]),
        ("README.md main.rs www.example.org ada@example.org ftp://example.org //example.org", []),
        ("`https://example.org`", []),
        ("http://sayso-abcdefghijklmnop.localhost:7297/", []),
        (" ".join(f"http://{number}.example" for number in range(60)), []),
    ],
)
def test_bare_addresses_are_links_and_names_of_files_are_not(text: str, links: list[str]) -> None:
    assert Seen(str(shown(text).html)).addresses == links


def test_a_link_tells_its_address_once_and_hides_none() -> None:
    assert 'class="bare"' in str(shown("https://example.org/").html)
    for other in ("[https://good.example](https://evil.example)", "https://xn--80ak6aa92e.com/", "https://a.org/%20"):
        assert "bare" not in str(shown(other).html)


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("In `a-b`, `c`.", "In <code><span>a-b</span></code>, <code>c</code>."),
        ("`<b>` & <i>", "<code>&lt;b&gt;</code> &amp; &lt;i&gt;"),
        ("one ` alone, **bold**", "one ` alone, **bold**"),
        ("``two`` and ```three```", "``two`` and ```three```"),
        ("not `over\nlines`", "not `over\nlines`"),
    ],
)
def test_words_between_backticks_are_code_and_nothing_else_is_a_mark(text: str, html: str) -> None:
    assert with_code(text) == html


def test_a_list_of_tasks_shows_what_is_done() -> None:
    html = str(shown("- [x] tests\n- [ ] docs\n- [y] no\n\n[x] alone").html)
    assert '<li class="task">☑ tests</li>' in html
    assert '<li class="task">☐ docs</li>' in html
    assert "<li>[y] no</li>" in html
    assert "<p>[x] alone</p>" in html


@pytest.mark.parametrize("text", ["http://", "http://a.", "http://a.b/(", "http://1", "mailto:", "a@", "//"])
def test_no_address_makes_it_slow(text: str) -> None:
    begun = time.process_time()
    shown(text * (MOST_CHARACTERS // len(text)))
    shown(text * _MOST_ADDRESSES + text * 2000)
    shown((text * _MOST_ADDRESSES).ljust(MOST_CHARACTERS, "a"))
    assert time.process_time() - begun < 1.5


def test_a_link_keeps_its_address_alone() -> None:
    html = str(shown('[words](https://example.org/x "a title")').html)
    assert Seen(html).attributes == {"href", "rel", "target"}


ADDRESSES = (
    "javascript:alert(1)",
    "data:text/html,x",
    "vbscript:x",
    "file:///etc/passwd",
    "//evil.example",
    "/sign-out",
    "?q=1",
    "#main",
)


@pytest.mark.parametrize("address", ADDRESSES)
def test_only_web_and_mail_addresses_are_links(address: str) -> None:
    assert Seen(str(shown(f"[x]({address}) <{address}>").html)).addresses == []


@settings(max_examples=300, deadline=None)
@given(st.text() | st.text(alphabet="<>\"'&[]()!`*_~#|\\-=:/ \nabsrcipt", max_size=200))
def test_whatever_is_written_only_harmless_tags_come_of_it(text: str) -> None:
    seen = Seen(str(shown(text).html))
    assert seen.tags <= ALLOWED
    assert seen.attributes <= {"href", "rel", "target", "start"}
    assert "\n" not in plain_line(text)


def test_a_long_text_is_cut_and_says_by_how_much() -> None:
    cut = shown("word " * MOST_CHARACTERS)
    assert cut.left_out == 4 * MOST_CHARACTERS
    assert len(str(cut.html)) < 2 * MOST_CHARACTERS


def test_a_text_made_to_be_slow_stays_plain() -> None:
    assert str(shown("[" * 5_000).html).startswith("<pre>[[[")


def test_deceiving_characters_are_spelt_out() -> None:
    assert "&lt;U+202E&gt;" in str(shown("a\u202eb").html)
    assert plain_line("a\u202eb") == "a<U+202E>b"


def test_a_headline_has_the_words_without_the_marks() -> None:
    assert plain_line("# Title\n\nSome\n**bold** `code`\n\n```\nx = 1\n```") == "Title Some bold code x = 1"
    assert plain_line("Which price?\n\n|Thing|Price|\n|-|-|\n|Tea|3|\n\nSay.") == "Which price?"
    assert plain_line("|Thing|Price|\n|-|-|\n|Tea|3|") == "Thing Price Tea 3"


@pytest.mark.parametrize("spelt", ["sayso-", "SAYSO-", "%73ayso-", "s\u00adayso-", "\uff53ayso-"])
@pytest.mark.parametrize("letters", ["abcdefghijklmnop", "abcdefghijklmnopqrstuvwx"])
def test_no_link_leads_to_the_private_name_of_an_inbox(spelt: str, letters: str) -> None:
    """On another port it would be sent the session of whoever follows it."""
    address = f"http://{spelt}{letters}.localhost:9471/steal"
    html = shown(f"See [the preview]({address}), <{address}> or [docs](http://localhost:3000/sayso-docs).").html
    assert Seen(html).addresses == ["http://localhost:3000/sayso-docs"]


@pytest.mark.parametrize(
    ("text", "html", "rest"),
    [
        ("May I?", "May I?", ""),
        ("Run `rm x`?\n\nIt is **old**.\n\n- yes", "Run <code>rm x</code>?", "It is **old**.\n\n- yes"),
        ("<b>?\u202e", "&lt;b&gt;?&lt;U+202E&gt;", ""),
    ],
)
def test_a_short_first_paragraph_is_the_heading(text: str, html: str, rest: str) -> None:
    heading = heading_of(text)
    assert heading
    assert (heading.html, heading.rest) == (html, rest)


@pytest.mark.parametrize(
    "text", ["", "- a list", "```\ncode\n```", "two\nlines", "x" * 300, "|a|\n|-|\n|b|", "> quoted"]
)
def test_what_is_no_short_paragraph_is_no_heading(text: str) -> None:
    assert heading_of(text) is None


def test_code_has_colours_and_is_nothing_but_its_text() -> None:
    code = "def total(x):  # all <b>\n    return 'it' + \"--force\" * 2 /* a\nb */\n"
    html = str(shown(f"```python\n{code}```").html)
    for kind, text in (("k", "def"), ("c", "&lt;b&gt;"), ("s", "'it'"), ("n", "2")):
        assert f'<span class="code-{kind}">{text}</span>' in html
    read = TextOf(html).text
    assert read == code
    assert "code-" not in shown(f"```\n{code}```").html


class TextOf(HTMLParser):
    """What a person reads."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text = ""
        self.feed(html.strip())

    def handle_data(self, data: str) -> None:
        self.text += data

"""Diffs as pages show them: numbers, colours and folds, and nothing of an agent's that is more than text."""

from __future__ import annotations

import re

from markupsafe import Markup

from sayso.web.diff_block import diff_block, folded_diff, plain_block

DIFF = """\
@@ -9,3 +9,4 @@ class Order
 def total(order):
-    return 'a' # the sum
+    card = "<b>"
+    return run --force
 print(total)
\\ No newline at end of file"""


def numbers(html: str) -> list[str]:
    return re.findall(r'<div class="line(?: added| removed)?" data-n="(\d+)"', html)


def test_each_line_has_its_number_in_the_file_as_it_will_be_and_what_goes_as_it_was() -> None:
    html = diff_block(DIFF, "shop/order.py")
    assert numbers(html) == ["9", "10", "10", "11", "12"]
    assert '<div class="line">\\ No newline' in html


def test_where_a_diff_does_not_say_at_which_lines_it_is_none_has_a_number() -> None:
    assert numbers(diff_block("@@ wherever this stands @@\n-a\n+b")) == []


def test_words_strings_and_comments_have_colours_in_files_that_are_known_and_all_of_the_text_stays() -> None:
    html = diff_block(DIFF, "shop/order.py")
    assert '<span class="code-k">return</span> <span class="code-s">&#39;a&#39;</span>' in html
    assert '<span class="code-c">#</span>' in html
    assert '<span class="unbroken">--force</span>' in html
    assert "code-" not in diff_block(DIFF, "notes")
    for name in ("order.py", "order.ts", "notes"):
        lines = [Markup(line).striptags() for line in diff_block(DIFF, name).split("</div>")[:-1]]
        assert lines == [" ".join(line.split()) for line in DIFF.split("\n")]


def test_a_diff_that_names_its_file_is_coloured_as_that_one() -> None:
    named = f"--- a/order.go\n+++ b/order.go\n{DIFF}"
    assert '<span class="code-k">return</span>' in diff_block(named)
    assert numbers(diff_block(named)) == ["9", "10", "10", "11", "12"]


def test_nothing_in_a_diff_becomes_markup() -> None:
    for name in ("a.py", "a.html", '"><script>'):
        html = diff_block('@@ -1,1 +1,1 @@\n+<script>alert("1")</script>', name)
        assert "<script" not in html
    assert plain_block("<i>") == '<div class="line">&lt;i&gt;</div>'


def test_of_a_long_diff_hunks_further_down_are_folded_with_their_counts_and_nothing_is_lost() -> None:
    hunks = [f"@@ -{at},1 +{at},2 @@\n-old {at}\n+new {at}\n+more" for at in range(10, 400, 10)]
    html = folded_diff("\n".join(hunks), "a.txt")
    assert html.index("new 200") < html.index("<details") < html.index("new 220")
    assert '<summary>Line 390: <span class="count-added">+2</span> <span class="count-removed">−1</span>' in html
    assert all(f"new {at}" in html for at in range(10, 400, 10))
    assert "<details" not in folded_diff(hunks[0], "a.txt")
    assert "<details" not in diff_block("\n".join(hunks), "a.txt")


def test_what_a_diff_says_about_the_end_of_a_file_is_no_code() -> None:
    assert "code-k" not in diff_block("@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y", "a.rb")

"""Tests of Talk in a real browser. A package, so that pytest closes the browser when it leaves the folder."""

"""Records: frozen data that costs little to declare."""

from __future__ import annotations

import pytest

from sayso.records import asdict, field, fields, record, replace


@record
class Point:
    x: int
    y: int = 0
    tags: list[str] = field(default_factory=list)
    note: str = field(default="", compare=False)


@record
class Place(Point):
    name: str


def test_fields_are_given_by_name_and_the_others_have_their_defaults() -> None:
    one, other = Point(x=1), Point(x=1, y=2)
    assert (one.x, one.y, one.tags, one.note) == (1, 0, [], "")
    assert other.y == 2
    assert one.tags is not other.tags


def test_records_of_one_kind_with_the_same_values_are_equal_whatever_is_not_compared() -> None:
    assert Point(x=1, note="a") == Point(x=1, note="b")
    assert Point(x=1) != Point(x=2)
    assert Point(x=1) != Place(x=1, name="")
    assert hash(replace(Point(x=1), tags=())) == hash(replace(Point(x=1, note="b"), tags=()))


def test_a_record_has_the_fields_of_those_it_is_made_of_first() -> None:
    assert list(fields(Place)) == ["x", "y", "tags", "note", "name"]
    assert repr(Place(x=1, name="here")) == "Place(x=1, y=0, tags=[], name='here')"


def test_a_record_with_other_values_leaves_the_first_as_it_was() -> None:
    here = Place(x=1, name="here", note="kept")
    there = replace(here, name="there")
    assert (here.name, there.name, there.note) == ("here", "there", "kept")


def test_a_record_cannot_be_changed() -> None:
    with pytest.raises(AttributeError, match="Point is frozen: x cannot be changed"):
        Point(x=1).x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError, match="frozen"):
        del Point(x=1).x


def test_a_field_that_is_missing_or_unknown_is_named() -> None:
    with pytest.raises(TypeError, match="Place needs name"):
        Place(x=1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="Point has no colour"):
        Point(x=1, colour="red")  # type: ignore[call-arg]


def test_the_values_of_a_record_are_told_by_name_with_those_of_the_records_in_it() -> None:
    @record
    class Route:
        stops: tuple[Point, ...]
        known: dict[str, Point]

    route = Route(stops=(Point(x=1),), known={"end": Point(x=2, note="far")})
    plain = {"x": 1, "y": 0, "tags": [], "note": ""}
    assert asdict(route) == {"stops": (plain,), "known": {"end": {**plain, "x": 2, "note": "far"}}}

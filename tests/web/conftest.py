"""Takes in the fixtures of this folder."""

from tests.web.fixtures import house as house
from tests.web.fixtures import shared_house as shared_house

"""The web inbox: the same asks as everywhere, in a browser and for scripts. Serves pages; decides nothing itself."""

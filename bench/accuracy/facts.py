"""What a file says of an address, as far as causes.py asks; here: nothing."""


class Facts:
    def claims(self, address):
        """How many units say that it is theirs."""
        return 1

    def is_beyond(self, name, address):
        """Is it behind the section of that symbol, which has no size?"""
        return False

    def is_code(self, address):
        return True

    def statement(self, address):
        """(file, line) that atos shows; None: its rule is not for this file,
        or no row is there."""
        return None

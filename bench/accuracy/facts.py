"""Facts about an address that causes.py needs; here: none."""


class Facts:
    def claims(self, address):
        """How many units contain it."""
        return 1

    def is_beyond(self, name, address):
        """Is it after the end of that symbol's section, if the symbol has no
        size?"""
        return False

    def is_code(self, address):
        return True

    def statement(self, address):
        """(file, line) that atos shows; None: its rule does not apply to this
        file, or there is no row."""
        return None

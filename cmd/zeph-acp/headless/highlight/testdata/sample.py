"""A text
of several lines: def no()
"""
import os

class Reader(object):
    @property
    def size(self, n=1):
        '''Return it.

        for x in y
        '''
        # a comment
        return f"{n!r} bytes" if n > 2 else None

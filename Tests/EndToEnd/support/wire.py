"""The wire format of Protobuf, piece by piece, for messages that no library writes."""


def varint(number, length=0):
    """A number in base 128; in more bytes than it needs if `length` says so."""
    number &= 2**64 - 1
    result = bytearray()
    while number > 0x7F or len(result) + 1 < length:
        result.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*result, number])


def tag(number, kind):
    return varint(number << 3 | kind)


def number(field, value):
    return tag(field, 0) + varint(value)


def eight(field, content):
    return tag(field, 1) + content


def text(field, content):
    """Text, bytes or a message, with its length."""
    content = content.encode() if isinstance(content, str) else content
    return tag(field, 2) + varint(len(content)) + content


def group(field, content=b""):
    return tag(field, 3) + content + tag(field, 4)


def four(field, content):
    return tag(field, 5) + content


def nested(count, wrap, innermost=b""):
    """A message in `count` - 1 others, each put into the next by `wrap`."""
    for _ in range(count - 1):
        innermost = wrap(innermost)
    return innermost

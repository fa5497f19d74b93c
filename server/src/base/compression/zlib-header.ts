/**
 * Returns whether the data starts with a zlib header (RFC 1950), as `deflate` requires (RFC 9110,
 * section 8.4.1.2). Some senders leave the header out and send the compressed data alone.
 * @param bytes at least the first two bytes of the data, if it has two
 */
export function hasZlibHeader(bytes: Uint8Array): boolean {
  const [first = 0, second = 0] = bytes;
  return (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0;
}

/**
 * Returns a text with `\n` as its only line break, and other values unchanged. Text areas convert
 * texts in this way, so a text with other line breaks would count as edited when its field is left.
 */
export function withLineFeeds<Value>(value: Value): Value {
  return typeof value === "string" ? (value.replaceAll(/\r\n?/g, "\n") as Value) : value;
}

/**
 * Returns SQL of a timestamp's text in RFC 3339 format, in UTC and with milliseconds. Microseconds
 * are cut off, so the text equals what `toISOString` returns for the `Date` that `pg` reads.
 */
export const timeText = (time: string) =>
  `to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

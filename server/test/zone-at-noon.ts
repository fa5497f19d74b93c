/**
 * Returns a time zone in which it is between 12:00 and 13:00, so that no day ends soon: the next
 * midnight is twelve hours after the beginning of this hour.
 * @param time default: now
 */
export function zoneAtNoon(time = new Date()): string {
  const offset = 12 - time.getUTCHours();
  // The sign in these names is the opposite of the offset from UTC.
  return `Etc/GMT${offset > 0 ? "-" : "+"}${Math.abs(offset)}`;
}

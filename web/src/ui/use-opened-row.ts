import { useState } from "react";

/**
 * Returns the row of an open form, also if a refetch of its list no longer has the row. Otherwise
 * the form, with what the person typed, would disappear because somebody else deleted the row. The
 * form stays until `name` changes; the response to its request says what happened to the row.
 * @param name what the URL names; undefined if no form is open
 * @param row the row with this name in the cached list, the same object while the list has not
 *   changed; undefined if the list has no such row
 */
export function useOpenedRow<Row>(name: string | undefined, row: Row): Row {
  const [last, setLast] = useState({ name, row });
  const shown = row === undefined && last.name === name ? last.row : row;
  if (last.name !== name || last.row !== shown) setLast({ name, row: shown });
  return shown;
}

/** Returns the first `max` rows of a list, which can be on several pages. */
export async function firstRows<Row>(list: AsyncIterable<Row>, max: number): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const row of list) if (rows.push(row) === max) break;
  return rows;
}

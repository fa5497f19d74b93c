/** The time in examples. */
export const time = "2026-01-31T09:30:00.000Z";

/** Returns the id in examples, with a prefix such as `run`. */
export const id = (prefix: string) => `${prefix}_01jdb8tq5ke5ktbqrs4n1h9m0z`;

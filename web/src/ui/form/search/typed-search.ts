/** The state of a search field. */
interface TypedSearch {
  readonly text: string;
  /**
   * Texts that the field has searched for and whose results the list does not show yet; oldest
   * first.
   */
  readonly sent: readonly string[];
}

/**
 * Returns the state of a search field after `applied` has become the text that the list is searched
 * by. If the field has sent this text itself, what was typed since is kept. Otherwise, for example
 * after the Back button, `applied` replaces the typed text.
 */
export function afterApplied({ text, sent }: TypedSearch, applied: string): TypedSearch {
  const index = sent.indexOf(applied);
  if (index !== -1) return { text, sent: sent.slice(index + 1) };
  return { text: text.trim() === applied ? text : applied, sent: [] };
}

/**
 * Returns the key of what this tab keeps for a person, also while other screens are open and over a
 * reload.
 * @param name names what is kept, for example `message`
 * @param userId id of the signed-in person. It is part of the key, because another person can sign
 *   in in the same tab.
 * @param id id of the resource
 */
export function keptKey(name: string, userId: string, id: string): string {
  return `beckon.${name}.${userId}.${id}`;
}

/** Returns the text that this tab keeps under the key; undefined if there is none. */
export function readKept(key: string): string | undefined {
  return sessionStorage.getItem(key) ?? undefined;
}

/**
 * Keeps a text under the key. Returns false if the storage is full: the text that was stored last
 * then stays.
 */
export function keep(key: string, text: string): boolean {
  try {
    sessionStorage.setItem(key, text);
    return true;
  } catch {
    return false;
  }
}

/** Keeps a text under the key. If the storage is full, no text is kept, not even an earlier one. */
export function keepOrForget(key: string, text: string): void {
  if (!keep(key, text)) forgetKept(key);
}

/** Deletes the text under the key. */
export function forgetKept(key: string): void {
  sessionStorage.removeItem(key);
}

/** Deletes what this tab keeps for other people. It stays in the tab when a session expires. */
export function forgetKeptOfOthers(userId: string): void {
  for (const key of Object.keys(sessionStorage))
    if (key.startsWith("beckon.") && !key.includes(`.${userId}.`)) forgetKept(key);
}

/** Deletes all that this tab keeps, such as drafts of forms. */
export function forgetAllKept(): void {
  sessionStorage.clear();
}

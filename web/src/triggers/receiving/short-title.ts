/** Returns a preset's title without the other senders that it names in brackets. */
export const shortTitle = (title: string) => title.replace(/ \(.*\)$/, "");

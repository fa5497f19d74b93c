/** Returns a preset's title without the part in brackets: "Meta (WhatsApp)" becomes "Meta". */
export const shortTitle = (title: string) => title.replace(/ \(.*\)$/, "");

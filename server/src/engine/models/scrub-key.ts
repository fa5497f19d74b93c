/** Removes a key from text: as it is, and as it stands in a URL or in JSON. Without a key nothing is removed. */
export function keyScrubber(apiKey: string | undefined): (text: string) => string {
  if (apiKey === undefined || apiKey === "") return (text) => text;
  const forms = new Set([apiKey, encodeURIComponent(apiKey), JSON.stringify(apiKey).slice(1, -1)]);
  return (text) => [...forms].reduce((rest, form) => rest.replaceAll(form, "[secret]"), text);
}

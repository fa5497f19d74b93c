/**
 * The header `accept` of a request for an event stream. Other types are accepted too: an error is
 * JSON, and some servers respond with 406 to a request that accepts nothing but events.
 */
export const acceptEvents = "text/event-stream, */*;q=0.5";

const otherTypes = /^\s*(?:application\/(?:[\w.+-]+\+)?json|text\/html)\b/i;

/**
 * Returns whether the response to a request for an event stream can be one: its content type is
 * neither JSON nor HTML. Some servers send streams without a content type, or with one such as
 * `text/plain`.
 */
export function canBeEvents(contentType: string | null): boolean {
  return !otherTypes.test(contentType ?? "");
}

/** A request to a trigger, as it was received. */
export interface RawRequest {
  readonly method: string;
  /**
   * PUBLIC_URL or, if it is not set, the URL at which this server listens, followed by the path and
   * the query exactly as they were received. For a preview, test or replay, only `?` and the query.
   */
  readonly url: string;
  /** Names in lower case. Values of repeated headers are joined as Node joins them. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The bytes before any Content-Encoding is undone. */
  readonly body: Buffer;
  /** Unix time of arrival, in milliseconds. */
  readonly receivedAtMs: number;
}

/**
 * Returns the value of a header; undefined if it is absent.
 * @param name in lower case. It comes from a trigger's settings, so it can be the name of a
 *   property of `Object.prototype`, such as `constructor`.
 */
export function headerOf(
  { headers }: Pick<RawRequest, "headers">,
  name: string,
): string | undefined {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return Array.isArray(value) ? value.join(", ") : value;
}

/** Returns the query parameters of a request, decoded. */
export function queryOf({ url }: Pick<RawRequest, "url">): URLSearchParams {
  const start = url.indexOf("?");
  return new URLSearchParams(start < 0 ? "" : url.slice(start + 1));
}

/** Returns the media type of a Content-Type in lower case, without parameters; "" if absent. */
export function mediaTypeOf(contentType: string | undefined): string {
  return contentType?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

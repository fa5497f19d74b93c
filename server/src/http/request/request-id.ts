import { type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from "node:http";
import { reportOf } from "./request-report.ts";

/** Response header with the id of the request. Clients quote it, operators find it in the log. */
export const requestIdHeader = "beckon-request-id";

/** Returns the id of the request to which this is the response. */
export function requestIdOf({ req }: ServerResponse): string {
  return reportOf(req).requestId;
}

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/**
 * A response that has the request id as a header, regardless of which code writes it. Responses of
 * the API, and errors of other routes, also have `cache-control: no-store`, unless they set another
 * value. Shared caches recognize a credential only in `Authorization` (RFC 9111, section 3.5). So
 * they could store the response to a request with `x-api-key` and send it to another client. Some
 * also store a 404 for minutes, for example that of a file of the dashboard that only an upgraded
 * server has. The headers are added to those of `writeHead`: if they were set with `setHeader`,
 * Node would check and copy each of the other headers as well.
 */
export class IdentifiedResponse extends ServerResponse {
  override writeHead(status: number, message?: string | Headers, headers?: Headers): this {
    const given = (typeof message === "string" ? headers : message) ?? {};
    const { requestId, route } = reportOf(this.req);
    const added: Record<string, string> = { [requestIdHeader]: requestId };
    const cacheControl = "cache-control";
    const isSet = Array.isArray(given) ? given.includes(cacheControl) : cacheControl in given;
    const isPrivate = status >= 400 || route === "none" || route.startsWith("/api/");
    if (isPrivate && !isSet) added[cacheControl] = "no-store";
    const all = Array.isArray(given)
      ? [...given, ...Object.entries(added).flat()]
      : { ...given, ...added };
    return typeof message === "string"
      ? super.writeHead(status, message, all)
      : super.writeHead(status, all);
  }
}

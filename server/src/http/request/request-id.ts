import { type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from "node:http";
import { exchangeOf } from "./exchange.ts";

/** Response header with the id of the request. Clients quote it, operators find it in the log. */
export const requestIdHeader = "beckon-request-id";

/** Returns the id of the request to which this is the response. */
export function requestIdOf({ req }: ServerResponse): string {
  return exchangeOf(req).requestId;
}

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[];

/**
 * A response that has the request id as a header, regardless of which code writes it. The header is
 * added to those of `writeHead`: if it was set with `setHeader`, Node would check and copy each of
 * the other headers as well.
 */
export class IdentifiedResponse extends ServerResponse {
  override writeHead(status: number, message?: string | Headers, headers?: Headers): this {
    const given = (typeof message === "string" ? headers : message) ?? {};
    const id = requestIdOf(this);
    const all = Array.isArray(given)
      ? [...given, requestIdHeader, id]
      : { ...given, [requestIdHeader]: id };
    return typeof message === "string"
      ? super.writeHead(status, message, all)
      : super.writeHead(status, all);
  }
}

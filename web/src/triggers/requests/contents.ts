import type { ReceivedRequestDetails } from "@beckon/contract";

type Contents = Pick<ReceivedRequestDetails, "headers" | "body">;

/**
 * Returns whether the headers of the request are stored. They are not if the request was rejected
 * before it was verified, or if they were deleted with its run. If the body is stored and there are
 * no headers, the request had none that Beckon stores.
 */
export function hasContents({ headers, body }: Contents): boolean {
  return body !== null || Object.keys(headers).length > 0;
}

/**
 * Returns whether `size` is the size of the body. It is 0 for a request that was rejected before
 * its body was read.
 */
export function isSizeKnown(request: Contents & Pick<ReceivedRequestDetails, "size">): boolean {
  return request.size > 0 || hasContents(request);
}

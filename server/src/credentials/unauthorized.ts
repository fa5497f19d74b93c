/**
 * The error message for every credential that is not valid. It is the same for all, so that it does
 * not reveal whether a credential exists. Hints that depend only on the request can follow it.
 */
export const unauthorizedMessage =
  "The credential is missing, malformed or no longer valid. Send a valid one as the header x-api-key or, to fire a trigger, in its URL; if it was rotated or revoked, get the new one.";

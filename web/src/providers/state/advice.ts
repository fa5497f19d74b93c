/**
 * Returns the setting that allows the private address in the API's message; undefined if the message
 * is about something else. Beckon rejects private addresses by default.
 */
export function settingIn(message: string): string | undefined {
  const address = / add (\S+) to BECKON_EGRESS_ALLOW /.exec(message)?.[1];
  return address === undefined ? undefined : `BECKON_EGRESS_ALLOW=${address}`;
}

/**
 * Causes that the error of a check can contain, and what to do about each of them: `own` if the
 * provider is the workspace's, `other` if it is the operator's.
 */
const remedies: readonly {
  readonly cause: RegExp;
  readonly own: string;
  readonly other: string;
}[] = [
  {
    cause: /rejects the key/,
    own: "Copy the key from the provider's site again, and enter it with Edit.",
    other: "The operator of Beckon must replace the key in the server's environment.",
  },
  {
    cause: /rejects the request/,
    own: "Check the key and the base URL with Edit.",
    other: "The operator of Beckon must check key and address in the server's environment.",
  },
  {
    cause: /cannot check it/,
    own: "Try it with an agent, or correct the base URL with Edit. Most servers have their API below /v1.",
    other: "Try it with an agent.",
  },
  {
    cause: /base URL/,
    own: "Correct the base URL with Edit. Most servers have their API below /v1.",
    other: "The operator of Beckon must correct the address in the server's environment.",
  },
  {
    cause: /cannot be reached/,
    own: "Check that the server runs, and that its host name and port are right.",
    other: "Check that the server runs.",
  },
  {
    cause: /did not answer within|too long/,
    own: "Check that the server runs and is not busy, then check again.",
    other: "Check that the server runs and is not busy, then check again.",
  },
  {
    cause: /429/,
    own: "Wait a minute, then check again. Look at the limits of your account if it stays so.",
    other: "Wait a minute, then check again.",
  },
  {
    cause: /It answered \d/,
    own: "The provider has a problem of its own. Check again later.",
    other: "The provider has a problem of its own. Check again later.",
  },
];

/**
 * Returns what to do about the error of a check; undefined if there is no advice, for example
 * because the error itself says what to do.
 * @param isOwn whether the provider is the workspace's own, so that the person can change it
 * @param hasKey whether a key is stored. Without one, the API's error also says that the provider
 *   rejects the key, but the advice must be to enter one.
 */
export function adviceFor(error: string, isOwn: boolean, hasKey = true): string | undefined {
  if (isOwn && !hasKey && /rejects the key/.test(error))
    return "No key is stored. Enter one with Edit.";
  const remedy = remedies.find(({ cause }) => cause.test(error));
  return isOwn ? remedy?.own : remedy?.other;
}

import { createHmac } from "node:crypto";

/**
 * Returns the value of the header `webhook-signature`: one signature for each secret, separated by
 * spaces, so that a receiver that has only one of the secrets can verify the request.
 * @param secrets each is `whsec_`, followed by the bytes of the key in base64.
 * @param timestamp Unix time of the attempt, in seconds.
 * @see https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function sign(
  secrets: readonly string[],
  {
    id,
    timestamp,
    body,
  }: { readonly id: string; readonly timestamp: number; readonly body: string },
): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice("whsec_".length), "base64");
      const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`);
      return `v1,${signature.digest("base64")}`;
    })
    .join(" ");
}

import { Banner } from "../ui/index.ts";

/**
 * Warns that a link leads to another address than that of this page. Without PUBLIC_URL, links lead
 * to an address that only the server's machine may reach.
 */
export function OtherAddressBanner({ url }: { readonly url: string }) {
  const { origin } = new URL(url);
  if (origin === location.origin) return null;
  return (
    <Banner tone="warning">
      The link leads to {origin}, but you are at {location.origin}. If the person cannot open it
      there, set PUBLIC_URL and make a new link.
    </Banner>
  );
}

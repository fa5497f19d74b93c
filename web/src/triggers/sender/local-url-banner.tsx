import { Banner } from "../../ui/index.ts";

/** Says that a sender elsewhere cannot reach the URL of a trigger. Shown if `isLocalUrl`. */
export function LocalUrlBanner() {
  return (
    <Banner tone="warning">
      This address reaches only this machine or network. Set PUBLIC_URL, or use a tunnel.
    </Banner>
  );
}

import { Link } from "../../ui/index.ts";

/** Explains where a person gets a key, and how Beckon stores it. */
export function KeyHint({ keysPage }: { readonly keysPage: string | undefined }) {
  if (keysPage === undefined)
    return "Only if the server asks for one. It is stored encrypted and never shown again.";
  return (
    <>
      {"Make one on "}
      <Link href={keysPage}>{new URL(keysPage).host}</Link>. It is stored encrypted and never shown
      again.
    </>
  );
}

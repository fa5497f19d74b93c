/** An estimated value, in the font around it: `~$4.25` with a dotted underline. */
export function Estimated({ text }: { readonly text: string }) {
  return (
    <span title="Estimated" className="underline decoration-dotted underline-offset-3">
      {`~${text}`}
    </span>
  );
}

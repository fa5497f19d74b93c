import { ChevronRight } from "lucide-react";
import { createContext, type ReactNode, useContext, useState } from "react";
import { useFormState } from "react-hook-form";
import type { FormValues } from "./form-values.ts";

/**
 * `page`: on wide screens, titles are beside the fields. `pane`: titles are above the fields, and
 * long sections can be closed.
 */
export type SettingsLayout = "page" | "pane";

/** The layout of the settings, which `SettingsForm` provides to its sections. */
export const LayoutContext = createContext<SettingsLayout>("page");

interface SectionProps {
  readonly title: string;
  readonly description?: ReactNode;
  /** The form fields in the section. If one of them has an error, a closed section opens. */
  readonly fields: readonly (keyof FormValues)[];
  /**
   * The element at the top of `children`: `label` for the label of a field, `field` for a field
   * without a visible label. On a wide page, the title is beside this element, on the same line.
   */
  readonly beside: "label" | "field";
  /** True if the section is closed at first when it is shown in a pane. */
  readonly closed?: boolean;
  /** Buttons in the line of the title. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

/** A part of the settings. */
export function Section(props: SectionProps) {
  const layout = useContext(LayoutContext);
  if (layout === "page") return <PageSection {...props} />;
  return props.closed ? <ClosedSection {...props} /> : <PaneSection {...props} />;
}

function PageSection({ title, description, beside, actions, children }: SectionProps) {
  return (
    <section
      aria-label={title}
      className="grid grid-cols-[minmax(0,1fr)] gap-x-8 gap-y-4 py-6 first:pt-0 lg:grid-cols-[14rem_minmax(0,1fr)]"
    >
      <div
        className={`flex flex-col items-start gap-1 ${beside === "label" ? "lg:-mt-1" : "lg:pt-1.25"}`}
      >
        <h2 className="text-section font-semibold">{title}</h2>
        {description === undefined ? null : (
          <p className="text-dense text-ink-2 text-pretty">{description}</p>
        )}
        {actions === undefined ? null : <div className="pt-2">{actions}</div>}
      </div>
      <div className="flex min-w-0 flex-col gap-4">{children}</div>
    </section>
  );
}

function PaneSection({ title, actions, children }: SectionProps) {
  return (
    <section aria-label={title} className="flex min-w-0 flex-col gap-3 px-4 py-4 md:px-6">
      <div className="flex min-h-control-small items-center gap-2">
        <h2 className="flex-1 text-section font-semibold">{title}</h2>
        {actions}
      </div>
      {children}
    </section>
  );
}

function ClosedSection({ title, description, fields, children }: SectionProps) {
  const [open, setOpen] = useState(false);
  const { errors } = useFormState<FormValues>({ name: [...fields] });
  const hasError = fields.some((field) => errors[field] !== undefined);
  return (
    <details
      open={open || hasError}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      className="group min-w-0"
    >
      <summary className="flex min-h-11 list-none items-center gap-2 px-4 hover:bg-hover focus-visible:-outline-offset-2 md:px-6 [&::-webkit-details-marker]:hidden">
        <ChevronRight
          aria-hidden
          className="text-ink-3 transition-transform group-open:rotate-90"
        />
        <h2 className="text-section font-semibold">{title}</h2>
      </summary>
      <div className="flex min-w-0 flex-col gap-4 px-4 pt-1 pb-5 md:px-6">
        {description === undefined ? null : (
          <p className="text-dense text-ink-2 text-pretty">{description}</p>
        )}
        {children}
      </div>
    </details>
  );
}

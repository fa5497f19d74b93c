import { useWorkspace } from "../../data/index.ts";
import { Anchor } from "../../ui/index.ts";
import { templates } from "./templates.ts";

/** The templates to choose from. Each is a link to the form that it fills in. */
export function TemplateList() {
  const { id } = useWorkspace();
  return (
    <ul aria-label="Templates" className="grid max-w-280 gap-3 sm:grid-cols-2 xl:grid-cols-3">
      {templates.map((template) => (
        <li key={template.id} className="flex">
          <Anchor
            href={`/w/${id}/agents/new?from=template&template=${template.id}`}
            className="flex min-w-0 flex-1 items-start gap-3 rounded-control border border-rule bg-sheet p-4 transition-colors hover:border-edge hover:bg-hover"
          >
            <span className="inline-flex h-5 items-center text-ink-3">
              <template.icon aria-hidden />
            </span>
            <span className="flex min-w-0 flex-col gap-1">
              <span className="font-semibold">{template.name}</span>
              <span className="text-dense text-ink-2">{template.summary}</span>
            </span>
          </Anchor>
        </li>
      ))}
    </ul>
  );
}

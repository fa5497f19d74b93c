import { roleFor, useWorkspace } from "../../data/index.ts";
import { Banner, Link, LinkTabs, PageHeader } from "../../ui/index.ts";
import { useSearchParameters } from "../search.ts";
import { AgentForm } from "./agent-form.tsx";
import { ImportAgents } from "./import-agents.tsx";
import { TemplateList } from "./template-list.tsx";
import { templates } from "./templates.ts";

/**
 * The screen that creates one agent, with or without a template, or imports several from a file.
 */
export function NewAgentScreen() {
  const { id, can } = useWorkspace();
  const { from, template } = useSearchParameters();
  const list = `/w/${id}/agents`;
  const tabs = [
    { label: "Blank", href: `${list}/new` },
    { label: "From a template", href: `${list}/new?from=template` },
    { label: "Import", href: `${list}/new?from=import` },
  ];
  const current = from === "template" ? tabs[1] : from === "import" ? tabs[2] : tabs[0];
  const chosen = templates.find((each) => each.id === template);
  return (
    <div className="flex min-w-0 flex-col">
      <title>New agent · Beckon</title>
      <PageHeader
        title="New agent"
        breadcrumb={[{ label: "Agents", href: list }]}
        tabs={<LinkTabs label="Start with" current={current?.href} tabs={tabs} />}
      />
      <div className="flex min-w-0 flex-col gap-4 p-4 md:p-6">
        {!can("agents:write") ? (
          <Banner tone="warning">
            New agents need the role {roleFor("agents:write")}. Ask an owner of the workspace.
          </Banner>
        ) : from === "import" ? (
          <ImportAgents />
        ) : from !== "template" ? (
          <AgentForm />
        ) : chosen === undefined ? (
          <TemplateList />
        ) : (
          <>
            <p className="max-w-180 text-ink-2">
              {chosen.summary}{" "}
              <Link href={`${list}/new?from=template`}>Choose another template</Link>
            </p>
            <AgentForm key={chosen.id} template={chosen} />
          </>
        )}
      </div>
    </div>
  );
}

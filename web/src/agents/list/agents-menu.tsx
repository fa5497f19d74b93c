import { useMutation } from "@tanstack/react-query";
import { Download, EllipsisVertical, FileUp, Plus } from "lucide-react";
import { sentenceOf, useWorkspace } from "../../data/index.ts";
import { download } from "../../json/index.ts";
import { IconButton, Menu, useToast } from "../../ui/index.ts";

/** A menu beside the list: other ways to create agents, and the export of all agents. */
export function AgentsMenu() {
  const { id, client, whyNot } = useWorkspace();
  const toast = useToast();
  const save = useMutation({
    mutationFn: async (format: "yaml" | "json") =>
      download(
        `agents.${format}`,
        format === "yaml"
          ? await client.agents.exportManyYaml()
          : `${JSON.stringify(await client.agents.exportMany(), null, 2)}\n`,
        `application/${format}`,
      ),
    onError: (thrown) =>
      toast({
        tone: "failure",
        title: "The agents were not exported.",
        description: sentenceOf(thrown),
      }),
  });
  const disabledReason = whyNot("agents:write");
  const start = `/w/${id}/agents/new`;
  return (
    <Menu
      label="More about agents"
      trigger={<IconButton icon={EllipsisVertical} label="More about agents" tooltip={false} />}
      items={[
        {
          label: "New from a template",
          icon: Plus,
          href: `${start}?from=template`,
          disabledReason,
        },
        { label: "Import", icon: FileUp, href: `${start}?from=import`, disabledReason },
        "separator",
        { label: "Export all as YAML", icon: Download, onSelect: () => save.mutate("yaml") },
        { label: "Export all as JSON", icon: Download, onSelect: () => save.mutate("json") },
      ]}
    />
  );
}

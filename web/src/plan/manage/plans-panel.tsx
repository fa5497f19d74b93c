import type { Plan } from "@beckon/client";
import { EllipsisVertical, Pencil, Plus, Trash2 } from "lucide-react";
import { useList, useWorkspace } from "../../data/index.ts";
import {
  Badge,
  Button,
  type Column,
  DataTable,
  EmptyState,
  IconButton,
  Menu,
  menuColumn,
  Panel,
  useMedia,
  useOpenedRow,
} from "../../ui/index.ts";
import { metricTexts } from "../metrics.ts";
import { plansQuery } from "../queries.ts";
import { Allowance } from "./allowance.tsx";
import { DeletePlan } from "./delete-plan.tsx";
import { PlanForm } from "./plan-form.tsx";

interface PlansPanelProps {
  /** The search parameters of the page, which name the open dialog. */
  readonly search: Readonly<Record<string, string | undefined>>;
  readonly show: (search: Readonly<Record<string, string>>) => void;
}

/** The plans of the installation, for its operator. */
export function PlansPanel({ search, show }: PlansPanelProps) {
  const plans = useList(plansQuery(useWorkspace()));
  const close = () => show({});
  const isNarrow = !useMedia("(min-width: 768px)");
  const listed = plans.rows.find(({ id }) => id !== null && id === search.plan);
  const opened = useOpenedRow(search.plan, listed);
  const named = search.act === "delete" ? listed : opened;
  return (
    <Panel
      title="Plans"
      description="What workspaces of this installation can use a month."
      padding="none"
      actions={
        <Button size="small" icon={Plus} onClick={() => show({ plan: "new" })}>
          New plan
        </Button>
      }
    >
      <DataTable
        label="Plans"
        density={isNarrow ? "double" : "normal"}
        columns={columnsFor(show, isNarrow)}
        rows={plans.rows}
        rowKey={({ name }) => name}
        query={plans}
        empty={<EmptyState>A plan limits what a workspace can use a month.</EmptyState>}
      />
      {search.plan === "new" ? <PlanForm close={close} /> : null}
      {named === undefined ? null : search.act === "delete" ? (
        <DeletePlan plan={named} close={close} />
      ) : (
        <PlanForm key={named.name} plan={named} close={close} />
      )}
    </Panel>
  );
}

const origins: Readonly<Record<Plan["origin"], string | undefined>> = {
  built_in: "Built in",
  operator: "From the file",
  api: undefined,
};

function columnsFor(show: PlansPanelProps["show"], isNarrow: boolean): readonly Column<Plan>[] {
  const name: Column<Plan> = {
    id: "name",
    header: "Name",
    cell: (plan) => (
      <span className="flex min-w-0 flex-col">
        <span className="flex min-w-0 items-center gap-2">
          <bdi className="truncate font-semibold" title={plan.name}>
            {plan.name}
          </bdi>
          {origins[plan.origin] === undefined ? null : <Badge>{origins[plan.origin]}</Badge>}
        </span>
        {isNarrow ? <span className="truncate text-dense text-ink-2">{limitsOf(plan)}</span> : null}
      </span>
    ),
  };
  const menu = menuColumn<Plan>((plan) => <PlanMenu plan={plan} show={show} />);
  if (isNarrow) return [name, menu];
  return [
    name,
    allowance("tokens", "Tokens", ({ tokens }) => tokens),
    allowance("voice", "Voice", ({ voice_ms }) => voice_ms, "lg"),
    allowance("browser", "Browser", ({ browser_ms }) => browser_ms, "lg"),
    allowance("cost", "Cost", ({ cost_micros }) => cost_micros),
    menu,
  ];
}

/** Returns what a plan limits, in one line: `80,000,000 tokens · 10 h voice`. */
function limitsOf({ tokens, voice_ms, browser_ms, cost_micros }: Plan): string {
  const amounts = { tokens, voice: voice_ms, browser: browser_ms, cost: cost_micros };
  const limits = (["tokens", "voice", "browser", "cost"] as const).flatMap((metric) => {
    const amount = amounts[metric];
    if (amount === null) return [];
    const { format, label } = metricTexts[metric];
    return [`${format(amount)}${metric === "cost" ? "" : ` ${label.toLowerCase()}`}`];
  });
  return limits.length === 0 ? "Unlimited" : limits.join(" · ");
}

function allowance(
  metric: keyof typeof metricTexts,
  header: string,
  amountOf: (plan: Plan) => number | null,
  from?: Column<Plan>["from"],
): Column<Plan> {
  return {
    id: metric,
    header,
    width: 120,
    from,
    align: "end",
    cell: (plan) => <Allowance metric={metric} amount={amountOf(plan)} />,
  };
}

interface PlanMenuProps {
  readonly plan: Plan;
  readonly show: PlansPanelProps["show"];
}

function PlanMenu({ plan: { id, name, origin }, show }: PlanMenuProps) {
  const label = `More about the plan ${name}`;
  return (
    <span className="relative z-1 inline-flex align-middle">
      <Menu
        label={label}
        trigger={<IconButton icon={EllipsisVertical} label={label} size="small" tooltip={false} />}
        items={
          id === null
            ? [
                {
                  label: "Change, delete",
                  disabledReason:
                    origin === "operator"
                      ? "Only the file that BECKON_PLANS names changes this plan."
                      : "The built-in plan cannot be changed.",
                },
              ]
            : [
                { label: "Change", icon: Pencil, onSelect: () => show({ plan: id }) },
                "separator",
                {
                  label: "Delete",
                  icon: Trash2,
                  danger: true,
                  onSelect: () => show({ plan: id, act: "delete" }),
                },
              ]
        }
      />
    </span>
  );
}

/**
 * Returns an SQL expression for a run's configuration: that of its agent's version or, for a draft
 * run, the one that is stored with the run.
 * @param run alias of the run's row in `runs`.
 * @param input alias of the run's row in `run_inputs`.
 */
export const configOf = (run: string, input: string) => `(case when ${input}.source = 'draft'
  then (select config from run_drafts
    where run_id = ${run}.id and workspace_id = ${run}.workspace_id)
  else (select v.config from agent_versions v where v.agent_id = ${run}.agent_id
    and v.workspace_id = ${run}.workspace_id and v.version = ${input}.agent_version)
  end)`;

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

/**
 * Returns an SQL expression for the id of the provider of a run's model; null unless the workspace
 * configured the provider. The parameters are those of `configOf`.
 */
export const providerIdOf = (run: string, input: string) => `(case when ${input}.source = 'draft'
  then (select provider_id from run_drafts
    where run_id = ${run}.id and workspace_id = ${run}.workspace_id)
  else (select v.provider_id from agent_versions v where v.agent_id = ${run}.agent_id
    and v.workspace_id = ${run}.workspace_id and v.version = ${input}.agent_version)
  end)`;

export { readYaml } from "./read-yaml.ts";
export { yamlItems } from "./write-yaml.ts";
export { settleBody, YamlText } from "./yaml-text.ts";

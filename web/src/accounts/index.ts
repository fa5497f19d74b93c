export { AccountSettings } from "./settings/account-settings.tsx";

export { AccountSettings } from "./settings/account-settings.tsx";
export { SignInForm } from "./sign-in-form.tsx";

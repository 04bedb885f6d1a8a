/** The reasons of the events of this feature. */
export const grantReasons = {
  failed: "RoleBindingNotWritten",
  anotherRole: "RoleBindingOfAnotherRole",
} as const;

/** The reasons of the events of this feature. */
export const grantReasons = {
  created: "RoleBindingCreated",
  repaired: "RoleBindingRepaired",
  failed: "RoleBindingNotWritten",
  anotherRole: "RoleBindingOfAnotherRole",
} as const;

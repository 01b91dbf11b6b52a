/** Methods that answer from this process's memory, before they return. */
const instant = new WeakSet<object>();

/**
 * Marks a method that has done its work when it returns, and that nothing can keep from it: it need not be guarded against
 * a store that fails. What a host puts in its place is not marked.
 */
export function instantMethod<Method extends object>(method: Method): Method {
  instant.add(method);
  return method;
}

export function isInstantMethod(method: object): boolean {
  return instant.has(method);
}

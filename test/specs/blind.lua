-- Without them: nothing tells one kernel from another.
return include "hides_problem.lua" ("blind")

-- With values that show what the fills hide.
return include "hides_problem.lua" ("hides", normal(0, 4))

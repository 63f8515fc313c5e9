"""Where a student works: is all there, and how does a release get there?"""
